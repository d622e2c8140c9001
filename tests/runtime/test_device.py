"""The device layer: the first preferred device that exists, and the number format of each."""

from __future__ import annotations

import logging
import os

import pytest
import torch

from src.config.train_config import TARGETS, DeviceName, Precision
from src.core.errors import BadInput
from src.runtime.device import (
    GB,
    get_device,
    get_dtype,
    lora_targets,
    measure_speed,
    memory_gb,
    prepare_device,
    to_device,
)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Sets which accelerators this machine appears to have."""
    has: set[str] = set()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in has)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in has)
    return has


@pytest.mark.parametrize(
    ("there", "preferred", "chosen"),
    [
        ({"cuda", "mps"}, ("cuda", "mps", "cpu"), "cuda"),
        ({"mps"}, ("cuda", "mps", "cpu"), "mps"),
        ({"cuda", "mps"}, ("mps", "cuda", "cpu"), "mps"),
        ({"cuda"}, ("mps", "cpu"), "cpu"),
        ({"cuda"}, ("cpu", "cuda"), "cpu"),
    ],
)
def test_the_first_preferred_device_that_is_there_is_used(
    there: set[str], preferred: tuple[DeviceName, ...], chosen: str, machine: set[str]
) -> None:
    machine |= there
    assert get_device(preferred).type == chosen


@pytest.mark.usefixtures("machine")
def test_no_preferred_device_is_refused_with_the_key() -> None:
    with pytest.raises(BadInput, match=r"device_pref: this machine has none of cuda, mps. What to do: add cpu"):
        get_device(("cuda", "mps"))


@pytest.mark.parametrize(
    ("device", "precision", "dtype"),
    [
        ("cuda", "auto", torch.bfloat16),
        ("mps", "auto", torch.float16),
        ("cpu", "auto", torch.float32),
        ("cuda", "fp16", torch.float16),
        ("mps", "fp32", torch.float32),
        ("cpu", "fp16", torch.float32),
    ],
)
def test_each_device_has_its_number_format(device: str, precision: Precision, dtype: torch.dtype) -> None:
    assert get_dtype(torch.device(device), precision) is dtype


def test_fp16_on_a_cpu_warns_and_computes_in_fp32(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        get_dtype(torch.device("cpu"), "auto")
        assert not caplog.records
        get_dtype(torch.device("cpu"), "fp16")
    assert "computes in fp32" in caplog.text


@pytest.mark.usefixtures("machine")
def test_floats_take_the_devices_format_and_numbers_stay_whole() -> None:
    assert to_device(torch.ones(2, dtype=torch.float64)).dtype is torch.float32
    assert to_device(torch.ones(2, dtype=torch.int64), torch.device("cpu")).dtype is torch.int64


def test_mps_switches_off_flash_attention_and_compile_with_warning(caplog: pytest.LogCaptureFixture) -> None:
    flash = torch.backends.cuda.flash_sdp_enabled()
    try:
        with caplog.at_level(logging.WARNING):
            prepare_device(torch.device("cpu"))
            assert torch.backends.cuda.flash_sdp_enabled() is flash
            prepare_device(torch.device("mps"))
        assert not torch.backends.cuda.flash_sdp_enabled()
        # With compilation off the function itself runs, so a broken back end is never met.
        assert torch.compile(lambda x: x + 1, backend=_broken)(torch.ones(())).item() == 2
        assert "flash attention and torch.compile are switched off" in caplog.text
    finally:
        torch.backends.cuda.enable_flash_sdp(flash)
        torch.compiler.set_stance("default")


def _broken(*_: object) -> None:
    raise AssertionError("compiled after all")


def test_more_memory_means_more_layers() -> None:
    rows = [lora_targets(TARGETS, gb) for gb in (1, 12, 24)]
    assert rows == [row.modules for row in TARGETS]
    assert set(rows[0]) < set(rows[1]) < set(rows[2])


def test_a_cpu_has_at_most_what_the_machine_has() -> None:
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GB
    assert 0 < memory_gb(torch.device("cpu")) <= installed


def test_gpu_memory_ignores_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (12 * GB, 24 * GB))
    monkeypatch.setattr("src.runtime.device.allowed_share", lambda device: 1.0)
    assert memory_gb(torch.device("cuda")) == 24


def test_a_process_limited_to_part_of_the_card_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fraction(index: int) -> float:
        assert isinstance(index, int)  # torch 2.11 refuses a device without an index
        return 0.25

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (GB, 96 * GB))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", fraction)
    assert memory_gb(torch.device("cuda")) == memory_gb(torch.device("cuda", 1)) == 24.0


def test_the_speed_of_a_device_is_measured() -> None:
    copy, product = measure_speed(torch.device("cpu"), torch.float32)
    assert copy > 1e6
    assert product > 1e6
