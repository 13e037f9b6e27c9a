/** What the API sends: see docs/server and docs/plugins/events.md. */

export type Status = string

export interface RunSummary {
  run_id: string
  goal: string | null
  status: Status
  agent: string
  model_name: string
  max_iterations: number | null
  hitl_enabled: boolean
  cwd: string
  project: string
  task: string
  iteration: number
  total_tokens: number
  estimated_cost_usd: number | null
  created_at: string
  started_at: string | null
  ended_at: string | null
  resumable: boolean
  reason: string
  error: string | null
}

export interface CheckEvidence {
  achieved: boolean
  reason: string
  counts: Record<string, number>
  command: string[]
}

export interface RunRecord {
  goals: {
    name: string
    found_by: string
    options: Record<string, unknown>
    before: CheckEvidence | null
    after: CheckEvidence | null
    held_out: { total: number; failed: number } | null
    flaky: string[]
  }[]
  limits: Record<string, number | null>
  input: Record<string, unknown>
  output: string
  next_step: string
  refused: string[]
  findings: string[]
  allowed_edits: string[]
  changed_files: string[]
  sandboxes: string[]
  artifacts: string[]
  versions: Record<string, string>
  worked_s: number
  part_started_at: number | null
  checks_run: number
  interactive: boolean
}

export interface WholeRun extends RunSummary {
  record: RunRecord
}

export interface RunEvent {
  kind: string
  run_id: string
  iteration: number
  ts: number
  seq: number
  payload: Record<string, unknown>
}

export interface Delta {
  kind: 'delta'
  payload: { message_id: string; text: string }
}

export interface Choice {
  id: string
  kind: 'allow_once' | 'allow_always' | 'reject'
  label: string
}

export interface Question {
  id: string
  run_id: string
  kind: string
  text: string
  choices: Choice[]
  takes_text: boolean
  data: Record<string, unknown>
  asked_at: number
}

export interface Project {
  id: string
  path: string
  name: string
}

export interface ProjectWithGoals extends Project {
  goals: { name: string; evidence: string }[]
}

export interface Agent {
  name: string
  dist: string
  status: string
  error: string
  summary: string
  requires_goal: boolean
  default_model: string | null
  input: JsonSchema
  nodes: string[]
  edges: Edge[]
}

export interface Edge {
  source: string
  target: string
  conditional: boolean
}

export interface Model {
  model: string
  provider: string
  source: string
  is_local: boolean
}

export interface Plugin {
  kind: string
  name: string
  dist: string
  version: string
  status: string
  error: string
  summary: string
  needs: string[]
  options: Record<string, PluginOption>
}

export interface PluginOption {
  type: string
  default: unknown
  required: boolean
  description: string
}

export interface Setting {
  name: string
  value: unknown
  origin: string
}

export interface Strategy {
  id: string
  goal: string
  pattern: string
  success_count: number
  confidence: number
}

export interface Undone {
  restored: string[]
  removed: string[]
  merged: string[]
  conflicts: string[]
}

export interface JsonSchema {
  type?: string | string[]
  title?: string
  description?: string
  default?: unknown
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
  $ref?: string
  $defs?: Record<string, JsonSchema>
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  required?: string[]
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  minLength?: number
  maxLength?: number
}
