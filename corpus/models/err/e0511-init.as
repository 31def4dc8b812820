def Counter {
    types { Small = [0..3] Mode = [Off | On] }
    state { n: Small  mode: Mode  other: Bool }
    init { n := 5  n := 0  mod := Off }
    actions {
        ?inc() if n < 3 && other then { n := n + 1 mode := On }
    }
}
