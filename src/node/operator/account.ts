/** Who runs a command, as records of acts name them. */
import { hostname, userInfo } from 'node:os'

/** `name@host`. Containers run under numbers that no file of theirs has a name for: then the number. */
export function accountOf(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return `${process.getuid?.()}@${hostname()}`
  }
}
