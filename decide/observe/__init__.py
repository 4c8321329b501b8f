"""Those who look on: nothing in here takes part in a decision."""
