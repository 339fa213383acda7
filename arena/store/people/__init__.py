"""The database of people and of what proves who they are; that of results, which may be copied, is another one."""
