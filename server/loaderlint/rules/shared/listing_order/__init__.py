"""Which folder listing a sequence gets its order from, and whether it was sorted."""

from loaderlint.rules.shared.listing_order.list_changes import is_shuffled
from loaderlint.rules.shared.listing_order.loop_turns import counted_loop
from loaderlint.rules.shared.listing_order.orders import LOOPED_SET, Listing, Order, Orders, listing_name
from loaderlint.rules.shared.listing_order.sequence_order import ListingOrder

__all__ = ["LOOPED_SET", "Listing", "ListingOrder", "Order", "Orders", "counted_loop", "is_shuffled", "listing_name"]
