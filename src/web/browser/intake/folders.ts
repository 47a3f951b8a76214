/** Reads dropped folders and `data:` URLs. Loaded on demand. */

/** Maximum number of files per drop. */
const MAX_FILES = 1000

const PICTURE_NAME = /\.(jpe?g|jfif|png|apng|gif|webp|avif|heic|heif|hif|jxl)$/i

/** All files among `entries`, and all pictures in folders, recursively. */
export async function filesOfEntries(entries: FileSystemEntry[]): Promise<File[]> {
  const files: File[] = []
  const walk = async (entry: FileSystemEntry, isInFolder: boolean): Promise<void> => {
    if (files.length >= MAX_FILES) return
    if (entry.isFile) {
      // Skip other files in folders silently. A file dropped directly gets an error message instead.
      if (isInFolder && !PICTURE_NAME.test(entry.name)) return
      const file = await fileOf(entry as FileSystemFileEntry).catch(() => null)
      if (file) files.push(file)
    } else {
      for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) await walk(child, true)
    }
  }
  for (const entry of entries) await walk(entry, false)
  return files
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const children: FileSystemEntry[] = []
  // Chromium returns 100 entries at a time, and an empty list at the end.
  for (;;) {
    // An unreadable folder must not fail the other files.
    const batch = await new Promise<FileSystemEntry[]>((resolve) =>
      reader.readEntries(resolve, () => resolve([])),
    )
    if (batch.length === 0)
      return children.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
    children.push(...batch)
  }
}

/** Converts a `data:` URL to a file, for pages that embed their images. */
export function fileOfDataUrl(address: string): File | null {
  const [, type, base64] = /^data:(image\/[a-z]+);base64,([A-Za-z0-9+/=]+)$/.exec(address) ?? []
  if (!base64) return null
  return new File([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], '', {
    type,
  })
}
