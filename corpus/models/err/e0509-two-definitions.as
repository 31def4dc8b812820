def Counter {
    types { Small = [0..3] }
    state { n: Small }
    init { n := 0 }
    actions {
        ?inc() if n < 3 then { n := n + 1 }
        ?inc() if n == 3 then { n := 0 }
        tick() if n == 1 then { n := 2 }
        tick() if n == 2 then { n := 1 }
        tock(k: Small) if n == k then { }
        !value(v: Small) if v == m then { k := 3 }
    }
}
