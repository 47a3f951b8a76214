/** Pictures dropped or pasted anywhere on the page: files, folders, and images dragged over from another tab. */
import { say } from '../page/status.ts'
import { words } from '../upload/facts.ts'

export interface IntakeOptions {
  onFiles(files: File[]): void
  /** Only an address came, which this page may not fetch. */
  onAddressOnly(): void
}

/** `onDrag`: something is dragged over the page. */
export function takeDrops({ onDrag, onFiles, onAddressOnly }: IntakeOptions & { onDrag(): void }): void {
  const root = document.documentElement
  let isOwn = false
  /** Entering a child comes before leaving its parent, so both are counted. */
  let depth = 0
  const settle = () => {
    depth = 0
    delete root.dataset.dragging
  }
  const carries = (event: DragEvent) =>
    !isOwn && event.dataTransfer?.types.some((type) => type === 'Files' || type === 'text/uri-list')

  addEventListener('dragstart', () => {
    isOwn = true
  })
  addEventListener('dragend', () => {
    isOwn = false
  })
  addEventListener('dragenter', (event) => {
    if (!carries(event)) return
    if (depth === 0) onDrag()
    depth++
    root.dataset.dragging = ''
  })
  addEventListener('dragleave', () => {
    if (depth > 0 && --depth === 0) settle()
  })
  addEventListener('dragover', (event) => {
    if (!carries(event)) return
    event.preventDefault()
    event.dataTransfer!.dropEffect = 'copy'
  })
  addEventListener('drop', async (event) => {
    if (!carries(event)) return
    event.preventDefault()
    settle()
    const transfer = event.dataTransfer!
    const address = transfer.getData('text/uri-list').split(/\r?\n/)[0] ?? ''
    // The list of items empties itself when this handler returns, so it is read before anything is awaited.
    const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry?.() ?? [])
    const files = entries.some((entry) => entry.isDirectory)
      ? await (await loadFolders())?.filesOfEntries(entries)
      : [...transfer.files]
    if (!files) return say(words.unreachable)
    const isInline = files.length === 0 && address.startsWith('data:')
    const inline = isInline && (await loadFolders())?.fileOfDataUrl(address)
    if (inline) onFiles([inline])
    else if (files.length === 0 && address) onAddressOnly()
    else onFiles(files)
  })
}

/** `null`: the server, which has the code, can't be reached. */
const loadFolders = () => import('./folders.ts').catch(() => null)

/** Pictures pasted anywhere on the page. Text pasted into a field is the field's. */
export function takePastes({ onFiles, onAddressOnly }: IntakeOptions): void {
  addEventListener('paste', (event) => {
    if (
      (event.target as Element).closest?.(
        'input:not([type="checkbox"], [type="radio"], [type="file"]), textarea',
      )
    )
      return
    const files = [...(event.clipboardData?.files ?? [])]
    if (files.length > 0) {
      event.preventDefault()
      onFiles(files)
    } else if (/^https?:\/\/\S+$/i.test(event.clipboardData?.getData('text/plain').trim() ?? '')) {
      onAddressOnly()
    }
  })
}
