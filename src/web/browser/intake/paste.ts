export interface PasteOptions {
  onFiles(files: File[]): void
  /** Only an address was pasted, which this page may not fetch. */
  onAddressOnly(): void
}

/** Pictures pasted anywhere on the page. Text pasted into a field is the field's. */
export function takePastes({ onFiles, onAddressOnly }: PasteOptions): void {
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
