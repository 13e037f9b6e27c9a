/** What a form needs of a JSON Schema: each property as one field. */

import type { JsonSchema } from './types'

export type FieldKind = 'boolean' | 'choice' | 'json' | 'lines' | 'number' | 'text'

export interface Field {
  name: string
  label: string
  about: string
  kind: FieldKind
  choices: string[]
  isInteger: boolean
  isRequired: boolean
  min: number | undefined
  max: number | undefined
  default: unknown
}

export function fieldsOf(schema: JsonSchema): Field[] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const plain = resolved(property, schema)
    const choices = (plain.enum ?? (plain.const === undefined ? [] : [plain.const])).map(String)
    return {
      name,
      label: name.replaceAll('_', ' '),
      about: property.description ?? plain.description ?? '',
      kind: kindOf(plain, choices),
      choices,
      isInteger: plain.type === 'integer',
      isRequired: required.has(name),
      min: plain.minimum ?? plain.exclusiveMinimum,
      max: plain.maximum ?? plain.exclusiveMaximum,
      default: property.default ?? plain.default,
    }
  })
}

/** Follows references, and leaves null out where something else is possible. */
function resolved(property: JsonSchema, root: JsonSchema): JsonSchema {
  if (property.$ref) {
    const found = root.$defs?.[property.$ref.split('/').at(-1) ?? '']
    return found ? resolved(found, root) : {}
  }
  const ways = (property.anyOf ?? property.allOf ?? []).filter((way) => way.type !== 'null')
  const [only] = ways
  if (!only) return property
  return ways.length === 1 ? resolved(only, root) : {}
}

function kindOf(schema: JsonSchema, choices: string[]): FieldKind {
  if (choices.length) return 'choice'
  if (schema.type === 'boolean') return 'boolean'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string') return 'text'
  if (schema.type === 'array' && schema.items?.type === 'string') return 'lines'
  return 'json'
}

/** What is in the field when the value is `value`. */
export function shown(field: Field, value: unknown): string | boolean {
  if (field.kind === 'boolean') return Boolean(value)
  if (value == null) return ''
  if (field.kind === 'lines') return Array.isArray(value) ? value.join('\n') : String(value)
  if (field.kind === 'json') return JSON.stringify(value, null, 2)
  return String(value)
}

/**
 * The value that a field's content stands for; undefined when it is empty.
 * @throws SyntaxError for what is no JSON.
 */
export function valueOf(field: Field, content: string | boolean): unknown {
  if (typeof content === 'boolean') return content
  if (field.kind === 'lines') {
    const lines = content.split('\n').filter((line) => line.trim())
    return lines.length ? lines : undefined
  }
  if (!content.trim()) return undefined
  if (field.kind === 'number') return Number(content)
  return field.kind === 'json' ? (JSON.parse(content) as unknown) : content
}
