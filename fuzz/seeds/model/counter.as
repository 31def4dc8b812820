def Counter {
    types { Small = [0..3]  Mode = [Off | On] }
    state { n: Small  mode: Mode }
    init { n := 0  mode := Off }
    actions {
        ?inc(by: Small) if mode == On && n + by < 4 then { n := n + by }
        !value(v: Small) if v == n then { }
        tick() if mode == Off then { mode := On }
    }
}
