"""The environment for other libraries. Each module but `trl_tools` needs the extra of its library."""
