def Counter {
    types { Small = [0..3] Mode = [Off | On] }
    state { n: Small  mode: Mode  busy: Bool }
    init { n := 0  mode := Off  busy := False }
    actions {
        ?inc(by: Small) if mode == On && !busy && n + by < 4 then { n := n + by, busy := True }
        !value(v: Small) if busy && v == n then { busy := False }
        tick() if mode == Off then { mode := On }
        tick() if mode == On && n == 3 then { n := 0; mode := Off }
    }
}
