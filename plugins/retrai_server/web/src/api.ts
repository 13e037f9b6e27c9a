/** Requests to the server. The browser sends the cookie and the `Origin` by itself. */

export class ApiError extends Error {
  constructor(
    readonly status: number,
    override readonly name: string,
    message: string,
    readonly hint: string,
    readonly details: unknown,
  ) {
    super(message)
  }

  /** The server was restarted: it has a new token. */
  get isSignedOut(): boolean {
    return this.status === 401
  }
}

interface Body {
  error?: string
  message?: string
  hint?: string
  details?: unknown
}

function unreachable(): ApiError {
  return new ApiError(0, 'Unreachable', 'The server does not answer.', '', null)
}

async function request(path: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init })
  } catch {
    throw unreachable()
  }
  if (response.ok) return response
  const body = (await response.json().catch(() => ({}))) as Body
  throw new ApiError(
    response.status,
    body.error ?? 'Error',
    body.message ?? `The server answered ${response.status}.`,
    body.hint ?? '',
    body.details ?? null,
  )
}

async function read<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T
  } catch (error) {
    // A TypeError says that the connection broke off within the answer.
    throw error instanceof TypeError ? unreachable() : error
  }
}

export async function get<T>(path: string): Promise<T> {
  return read<T>(await request(path, {}))
}

/** A page of a list, and the address of the next one. */
export async function getPage<T>(path: string): Promise<{ items: T[]; next: string | null }> {
  const response = await request(path, {})
  const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')
  return { items: await read<T[]>(response), next: next?.[1] ?? null }
}

export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method }
  if (body !== undefined) {
    init.headers = { 'Content-Type': 'application/json' }
    init.body = JSON.stringify(body)
  }
  return read<T>(await request(path, init))
}

/** A query string of what is given. */
export function query(parameters: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value != null && value !== '')
  return given.length ? `?${new URLSearchParams(given.map(([k, v]) => [k, String(v)]))}` : ''
}
