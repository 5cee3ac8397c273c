"""Bodies of the message routes, as the published contract has them."""
