"""Gates: checks over evidence, two rounds of them, and the ticket that training needs."""
