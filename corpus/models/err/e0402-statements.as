def Statements {
    types { Small = [0..3] Mode = [On | Off] }
    state { a: Small  b: Bool  xs: list<Small> }
    init { a := 0  b := False  xs := [] }
    actions {
        ?twice() if True then { { a := 1  a := 2 } [] { } }
        ?name(p: Small)
            if True
            then {
                let k = p
                var a := 1
                let On = 2
                let p = 3
                k := 2
                p := 1
                for i in 1..2 { i := 3 }
                when let some(x) = xs.first() { x := 1 }
                let k = 4
            }
        ?scope() if True then { { let inner = 1 } a := inner }
        ?types()
            if True
            then {
                let q: Small = True
                let r: Smal = 1
                if a then { } else { a := b }
                when a + 1 { }
                a := q + r
            }
        ?range() if True then { var t: Small := 7 }
    }
}
