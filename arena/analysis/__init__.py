"""What the records say: values computed from the store, the same whenever they are computed."""
