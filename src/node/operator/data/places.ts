/** Where commands bring images from and to. */
import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'

/** `s3://…`, or a folder. As `file:` and its path, or as it is. */
export function readPlace(text: string): string {
  if (text.startsWith('s3://')) {
    if (URL.canParse(text)) return text
    throw new InvalidArgumentError('Write an S3 store as s3://bucket/prefix?endpoint=https://host')
  }
  if (/^[a-z0-9]+:\/\//i.test(text)) throw new InvalidArgumentError('Give a folder or s3://…')
  const path = text.replace(/^file:/, '')
  return path === '' ? 'file:' : `file:${resolve(path)}`
}

/** Unit: bytes a second. */
export function rateOption(): Option {
  return new Option('--rate <MB/s>', 'read no faster than this').argParser((text) => {
    const megabytes = Number(text)
    if (!(megabytes > 0)) throw new InvalidArgumentError('A rate is a number of MB a second.')
    return megabytes * 1e6
  })
}
