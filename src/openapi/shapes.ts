/** The parts of OpenAPI 3.1 that the document uses (https://spec.openapis.org/oas/v3.1.2.html). */

export type Schema = Record<string, unknown>

export interface Ref {
  $ref: string
}

export interface HeaderObject {
  description: string
  required?: boolean
  schema: Schema
  example?: unknown
}

export interface MediaType {
  schema?: Schema
  examples?: Record<string, { summary?: string; value: unknown }>
  encoding?: Record<string, { contentType: string }>
}

export interface ResponseObject {
  description: string
  headers?: Record<string, Ref>
  content?: Record<string, MediaType>
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description: string
  required?: boolean
  schema: Schema
  example?: unknown
}

/** One way of calling an operation, as other readers of OpenAPI show it beside the operation. */
export interface CodeSample {
  lang: string
  label: string
  source: string
}

export interface Operation {
  operationId: string
  tags: [string]
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { description: string; required: boolean; content: Record<string, MediaType> }
  responses: Record<string, ResponseObject>
  'x-codeSamples'?: CodeSample[]
}

export type Method = 'get' | 'head' | 'post' | 'delete' | 'options'

export type PathItem = Partial<Record<Method, Operation>>

export interface ApiDocument {
  openapi: string
  info: { title: string; version: string; summary: string; description: string; license: Schema }
  servers: { url: string }[]
  externalDocs: { url: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, PathItem>
  components: {
    schemas: Record<string, Schema>
    headers: Record<string, HeaderObject>
    /** Answers that any address may give. */
    responses: Record<string, ResponseObject>
  }
}

/** What a service is set to. */
export interface ApiSettings {
  /** No trailing slash. */
  baseUrl: string
  maxUploadBytes: number
  uploadsPerDay: number
}
