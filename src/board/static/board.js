// The board works without this script: forms submit and links work. With it, live parts refresh themselves and filters
// apply while you type. Everything that is put into the page was rendered, and escaped, by the board's own server.
"use strict";

const EVERY_MS = 2000;
const TYPING_MS = 150;

function put(place, html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  place.replaceChildren(...parsed.body.childNodes);
}

function renew(place) {
  let version = "";
  async function refresh() {
    if (!document.hidden) {
      try {
        const headers = version ? { "If-None-Match": version } : {};
        const answer = await fetch(place.dataset.live, { headers, cache: "no-store" });
        if (answer.status === 200) {
          version = answer.headers.get("ETag") || "";
          put(place, await answer.text());
        }
        document.body.classList.remove("away");
      } catch {
        document.body.classList.add("away"); // the server was stopped
      }
    }
    setTimeout(refresh, every);
  }
  const every = Number(place.dataset.every) || EVERY_MS;
  setTimeout(refresh, every / 4);
}

function filters(form, list) {
  let latest = 0;
  let timer = 0;
  function wanted() {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) query.append(name, value);
    return query.toString();
  }
  async function show(query, keep) {
    const mine = ++latest;
    list.classList.add("loading");
    const answer = await fetch(`${list.dataset.part}?${query}`, { cache: "no-store" });
    const html = await answer.text();
    if (mine !== latest) return;
    put(list, html);
    list.classList.remove("loading");
    if (keep) history.replaceState(null, "", query ? `/episodes?${query}` : "/episodes");
  }
  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    // A single letter is the beginning of a word.
    if (event.target.name === "q" && /(^|\s)[a-z0-9]$/i.test(event.target.value)) return;
    timer = setTimeout(() => show(wanted(), true), TYPING_MS);
  });
  // While an index is still being made, what is shown may be only a part.
  setInterval(() => {
    if (!document.hidden && list.querySelector(".busy")) show(location.search.slice(1), false);
  }, EVERY_MS);
}

// On a page with a previous and a next one, the arrow keys, and j and k, lead there.
const KEYS = { ArrowLeft: "prev", k: "prev", ArrowRight: "next", j: "next" };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const link = KEYS[event.key] && document.querySelector(`a[rel=${KEYS[event.key]}]`);
  if (link) link.click();
});

for (const place of document.querySelectorAll("[data-live]")) renew(place);
const form = document.getElementById("filters");
if (form) filters(form, document.getElementById("list"));
const sides = document.getElementById("sides");
if (sides) sides.addEventListener("change", () => sides.submit());

// Copying needs a script, so the button is hidden without one.
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.href);
    button.textContent = button.dataset.done;
  });
}
