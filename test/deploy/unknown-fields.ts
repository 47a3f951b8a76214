/** Finds fields that a compiled schema ignores. */

/** A class of `kubernetes-models`. Its constructor copies its argument, so only its schema is used. */
interface Kind {
  prototype: { validate(): void }
}

/** Paths of fields in `data` that the schema of `kind` does not know. Throws the schema's error if a field is invalid. */
export function unknownFields(kind: Kind, data: object): string[] {
  const seen = new Set<string>()
  kind.prototype.validate.call(watched(data, '', seen))
  return pathsIn(data, '').filter((path) => !seen.has(path))
}

/** Records which fields the schema reads: properties by name, and map entries by enumeration. */
function watched<T extends object>(target: T, path: string, seen: Set<string>): T {
  return new Proxy(target, {
    get(object, key) {
      const value = Reflect.get(object, key)
      if (typeof key === 'symbol') return value
      seen.add(`${path}${key}`)
      return typeof value === 'object' && value !== null ? watched(value, `${path}${key}.`, seen) : value
    },
  })
}

function pathsIn(value: object, path: string): string[] {
  return Object.entries(value).flatMap(([key, inner]) => [
    `${path}${key}`,
    ...(typeof inner === 'object' && inner !== null ? pathsIn(inner, `${path}${key}.`) : []),
  ])
}
