(comment) @comment
(doc_comment) @comment.documentation
(string) @string
(escape) @string.escape
(number) @number
(boolean) @constant.builtin
(none) @constant.builtin
(count) @keyword.control
(attribute name: (identifier) @attribute)

["model" "system" "observed" "input" "output" "var" "clock" "const" "type" "enum" "record" "fn" "state" "any" "purpose" "test" "use" "from" "hide" "expose" "as" "between" "and"] @keyword
["on" "emit" "internal" "quiet" "when" "let" "reset" "reach" "always" "sometimes" "send" "expect" "if" "then" "else" "match" "exists" "forall" "in" "for" "some" "is"] @keyword.control
["->" "=>" "==" "!=" "<" "<=" ">" ">=" "&&" "||" "+" "-" "*" "/" "%" "!" "=" ".." "?"] @operator
["{" "}" "(" ")" "[" "]"] @punctuation.bracket
["," ":" "." ";"] @punctuation.delimiter

(model name: (identifier) @module)
(system name: (identifier) @module)
(use model: (identifier) @module)
(part model: (identifier) @module)
(message name: (identifier) @function)
(transition message: (identifier) @function)
(send message: (identifier) @function)
(expect message: (identifier) @function)
(port message: (identifier) @function)
(expose name: (identifier) @function)
(function name: (identifier) @function)
(call function: (identifier) @function)
(method function: (identifier) @function.method)
(state name: (identifier) @type)
(transition target: (identifier) @type)
(purpose state: (identifier) @type)
(named_type (identifier) @type)
(collection_type name: (identifier) @type)
(enum name: (identifier) @type)
(record name: (identifier) @type)
(type_alias name: (identifier) @type)
(variant name: (identifier) @constant)
(constant name: (identifier) @constant)
(transition label: (identifier) @label)
(purpose label: (identifier) @label)
(purpose name: (identifier) @label)
(property label: (identifier) @label)
(label_path (identifier) @label)
(field name: (identifier) @property)
(pin field: (identifier) @property)
(argument field: (identifier) @property)
(selection field: (identifier) @property)
(variable name: (identifier) @variable)
(clock name: (identifier) @variable)
(part name: (identifier) @variable)
(part index: (identifier) @variable)
(channel name: (identifier) @variable)
(channel kind: (identifier) @type)
(channel one: (identifier) @variable)
(channel other: (identifier) @variable)
(port part: (identifier) @variable)
(transition part: (identifier) @variable)
(send part: (identifier) @variable)
(expect part: (identifier) @variable)
