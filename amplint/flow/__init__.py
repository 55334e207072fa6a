"""Control flow of one function, knowing nothing of AMP.

`statements.build` makes the graph of a function, `inline.expand` puts called functions in the place of their calls,
`conditions.Questions` finds the tests that ask the same thing, `slim.slim` leaves out what a client ignores,
`fixpoint.explore` runs a client over every feasible path, and `draw.mermaid` shows a graph to people.
"""
