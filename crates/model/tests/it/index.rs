//! Tests of [`ioxide_model::index`].

use ioxide_model::index::IndexVec;

ioxide_model::index! { /// A seat.
struct IndexSeat; }

#[test]
fn push_returns_the_id_that_finds_the_item() {
    let mut seats: IndexVec<IndexSeat, &str> = IndexVec::new();
    let a = seats.push("a");
    let b = seats.push("b");
    assert_eq!((seats[a], seats[b]), ("a", "b"));
    assert_eq!(seats.ids().collect::<Vec<_>>(), [a, b]);
    assert_eq!(seats.get(seats.next_id()), None);
}
