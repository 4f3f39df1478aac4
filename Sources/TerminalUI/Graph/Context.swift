/// Where an evaluation is: the node of the view, what the views above hand down, and who collects.
@MainActor
struct Context {
  // Elements keep contexts, and the graph keeps the elements.
  unowned let graph: Graph
  var node: Node
  var environment: EnvironmentValues
  /// Where what can have the focus is entered, in order.
  var focus: FocusOrder
  /// Whether what is evaluated is shown, rather than beneath the screen that is.
  var isShown = true

  /// Evaluates a view as the child of this place.
  func evaluate<V: View>(_ view: V, _ key: Node.Key) -> [Element] {
    var inner = self
    inner.node = node.child(key, type: V.self, in: self)
    return inner.evaluateHere(view)
  }

  /// Evaluates the view that the context's node stands for.
  private func evaluateHere<V: View>(_ view: V) -> [Element] {
    if let primitive = view as? any PrimitiveView {
      if environment.defersRows, (primitive as? any RowStructure)?.hasRows != true { return [deferred(primitive)] }
      return primitive.elements(in: self)
    }
    graph.bodiesEvaluated += 1
    var view = view
    FieldLayout.of(V.self).connect(&view, in: self)
    return evaluate(view.body, .body)
  }

  /// A view in a list, which is evaluated when its row is seen.
  private func deferred(_ view: any PrimitiveView) -> Element {
    var row = self
    row.environment.defersRows = false
    row.node.isAtRest = true
    let make: (Int, FocusOrder) -> Element = { [row] _, focus in
      var row = row
      row.focus = focus
      row.node.isAtRest = false
      let elements = view.elements(in: row)
      return elements.count == 1 ? elements[0] : StackElement(.vertical, elements, spacing: 0)
    }
    return RowsElement(node: node, count: 1, id: { _ in AnyHashable(0) }, make: make)
  }

  /// Evaluates a view with another environment.
  func evaluate<V: View>(_ view: V, _ key: Node.Key, changing change: (inout EnvironmentValues) -> Void) -> [Element] {
    var inner = self
    change(&inner.environment)
    return inner.evaluate(view, key)
  }

  /// Evaluates a view and stacks what it gives vertically, if it is more than one element.
  func evaluateOne<V: View>(
    _ view: V, _ key: Node.Key, changing change: (inout EnvironmentValues) -> Void = { _ in }
  ) -> Element {
    let elements = evaluate(view, key) { environment in
      environment.defersRows = false
      change(&environment)
    }
    return elements.count == 1 ? elements[0] : StackElement(.vertical, elements, alignment: .leading, spacing: 0)
  }
}

/// A view of the library's own, which gives elements instead of a body.
@MainActor
protocol PrimitiveView: View where Body == Never {
  /// What the view shows. A view that is made of several gives several: its container lays them out.
  func elements(in context: Context) -> [Element]
}
