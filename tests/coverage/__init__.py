"""Which share of the branches of the rooms that decide what is found and edited the tests go through."""
