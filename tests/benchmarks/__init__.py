"""How long amplint takes beside other tools, and how its time and memory grow."""
