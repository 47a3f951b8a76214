/** The items of a HEIF file (ISO/IEC 23008-12) as its `meta` box tells them, with the place of all that may be cut. */
import type { Box, Fields, Run } from '../bmff/fields.ts'

/** Most items. A grid of 200 megapixels in tiles of 512 has some 800. */
export const MAX_ITEMS = 8192

export interface Item {
  id: number
  /** `av01`, `grid`, `Exif`, …; empty for items that older versions describe by media type alone. */
  type: string
  contentType: string
  /** Not meant to be shown by itself (23008-12, 6.4.2). */
  isHidden: boolean
  /** Where its data is, in order. `null`: not in this file, or in a way that no viewer of AVIF reads. */
  extents: Run[] | null
  /** The farthest byte of the file that its place names, 0 if it names none. */
  reach: number
  properties: Association[]
  /** What a derived image is made of, in order. */
  inputs: number[]
  /** Its `infe` box, and where in it the name starts. */
  info: Box
  nameAt: number
}

export interface Property {
  box: Box
  /** Its contents. Each reading starts at the beginning. */
  read(): Fields
}

/** That an item has a property. */
export interface Association {
  property: Property
  /** A reader that does not know the property must not show the item. */
  essential: boolean
  /** Place and width of the field whose highest bit says `essential`; the rest of it is `index`. */
  at: number
  width: number
  index: number
}

/** A counted list with one entry for each item that it describes. */
export interface ItemList {
  box: Box
  parents: Box[]
  countAt: number
  countWidth: number
  entries: (Run & { id: number })[]
  /** After the last entry. */
  entriesEnd: number
}

/** A counted list of ids of one width: what an item refers to, or what a group is made of. */
export interface IdList {
  box: Box
  parent: Box
  type: string
  /** The item that refers; `null` for a group. */
  from: number | null
  ids: number[]
  countAt: number
  countWidth: number
  idsAt: number
  idWidth: number
}

export interface MetaPart {
  box: Box
  /** All of the box. */
  fields: Fields
}

export interface Meta {
  box: Box
  children: Box[]
  primary: number | null
  items: Map<number, Item>
  properties: Property[]
  /** The children of `iprp`. */
  propertyBoxes: Box[]
  references: IdList[]
  groups: IdList[]
  lists: ItemList[]
  /** The children that are read. */
  parts: Map<string, MetaPart>
  /** Data that is kept in the box itself. */
  idat: Box | null
}
