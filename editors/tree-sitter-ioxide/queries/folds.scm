[(model) (system) (state) (any) (observer) (test) (record) (enum)] @fold
