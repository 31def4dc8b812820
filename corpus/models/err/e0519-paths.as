def Paths {
    types { Small = [0..3] }
    state { a: Small  b: Bool  xs: list<Small> }
    init { a := 0  b := False  xs := [] }
    actions {
        ?many()
            if True
            then {
                for i in 1..12 { { a := i % 4 } [] { b := i > 3 } [] when b { } }
            }
        ?long() if True then { for i in 1..2000 { a := 0 } }
        ?deep()
            if True
            then { for i in 1..1000 { for j in 1..1000 { a := a + 0 } } }
        !grow(n: int)
            if True
            then {
                var n2 := n + a
                for i in 1..60 { n2 := n2 * n2 }
                when n2 == n { }
            }
    }
}
