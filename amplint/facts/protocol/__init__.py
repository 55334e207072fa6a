"""The protocol of gradient scaling, read along the paths of a program, and which defect each misstep is."""
