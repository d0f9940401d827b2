"""What was done with the objects of a session: faults, changes of fidelity, and admissions, in their order."""
