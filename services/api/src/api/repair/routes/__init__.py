"""The operators' doors to repair."""
