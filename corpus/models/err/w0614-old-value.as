def Order {
    types { Small = [0..3] }
    state { a: Small  b: Small  m: map<Small, Small> }
    init { a := 0  b := 0  m := {} }
    actions {
        ?paper() if True then { a := b  b := a }
        ?semicolon() if True then { a := b; b := a }
        ?nested(p: Small)
            if True
            then {
                if p > 1 then {
                    a := p
                    m[a] := b
                }
                a := b, b := a
                then b := a
            }
    }
}
