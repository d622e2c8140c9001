"""The board: the owner's page as a small server on this machine, live while a run goes on. It reads and never writes
anything but its own index."""
