def Loops {
    types { Small = [0..3] }
    state { a: Small  xs: list<Small>  s: set<Small> }
    init { a := 0  xs := []  s := {} }
    actions {
        ?state() if True then { for x in xs { a := x } }
        ?message(ys: list<Small>) if True then { for y in ys { a := y } }
        ?members() if True then { for x in s { a := x } }
        ?number() if True then { for x in a { a := x } }
        ?not_constant() if True then { for x in 0..a { a := 0 } }
    }
}
