/** What a compiled schema passes over: the fields that it never looks at. */

/** A class of `kubernetes-models`. Its constructor copies what it is given, so only its schema is used. */
interface Kind {
  prototype: { validate(): void }
}

/** Paths of fields of `data` that the schema of `kind` does not know. Throws, in the schema's words, if one does not fit. */
export function unknownFields(kind: Kind, data: object): string[] {
  const seen = new Set<string>()
  kind.prototype.validate.call(watched(data, '', seen))
  return pathsIn(data, '').filter((path) => !seen.has(path))
}

/** Schemas read fields by their names, and maps by listing them. */
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
