def Statements {
    types { Small = [0..3] }
    state { a: Small  b: Bool  xs: list<Small> }
    init { a := 0  b := False  xs := [] }
    actions {
        ?head() if True then { a := 1 } [] { a := 2 }
        ?after_if() if True then { if b then { a := 1 } [] { a := 2 } }
        ?trailing() if True then { a := 1 then }
        ?local() if True then { t: Small := 3 }
        ?pattern() if True then { let some(x) = xs.first() }
        ?equals() if True then { var t = 3 }
        ?colon() if True then { let t := 3 }
        ?no_block() if True then { if b then a := 1 }
        ?branch() if True then { when b a := 1 }
        ?other() if True then { a := 1 else { } }
        ?fine() if True then { a := 1 }
    }
}
