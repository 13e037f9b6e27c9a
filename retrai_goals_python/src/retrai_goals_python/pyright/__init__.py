"""Goal pyright: no type errors; and what hides one."""
