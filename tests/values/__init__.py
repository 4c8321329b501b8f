"""Values and what is made of them: no engine, no loop."""
