"""The operators' doors to what they administer."""
