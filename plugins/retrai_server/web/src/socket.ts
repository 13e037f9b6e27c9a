import { get, ApiError } from './api'

/** `live`: connected; `connecting`: trying again; `signed-out`: the server wants its new token;
 * `ended`: the server has closed it, and there is no more. */
export type Connection = 'connecting' | 'live' | 'signed-out' | 'ended'

const FIRST_WAIT_MS = 400
const LONGEST_WAIT_MS = 8_000

/** A WebSocket that connects again, with growing waits, until it is closed or has ended. */
export class LiveSocket {
  private socket: WebSocket | null = null
  private failures = 0
  private timer: number | undefined
  private isClosed = false
  private readonly retryNow = () => this.connectSoon(0)

  constructor(
    private readonly path: () => string,
    private readonly onMessage: (text: string) => void,
    private readonly onState: (state: Connection) => void,
  ) {
    window.addEventListener('online', this.retryNow)
    window.addEventListener('focus', this.retryNow)
    this.connect()
  }

  close(): void {
    this.isClosed = true
    window.clearTimeout(this.timer)
    window.removeEventListener('online', this.retryNow)
    window.removeEventListener('focus', this.retryNow)
    this.socket?.close()
  }

  private connect(): void {
    const socket = new WebSocket(`ws${location.protocol.slice(4)}//${location.host}${this.path()}`)
    this.socket = socket
    this.onState('connecting')
    socket.onopen = () => {
      this.failures = 0
      this.onState('live')
    }
    socket.onmessage = (message: MessageEvent<string>) => {
      if (!this.isClosed) this.onMessage(message.data)
    }
    socket.onclose = (event) => void this.closed(socket, event.code)
  }

  private async closed(socket: WebSocket, code: number): Promise<void> {
    if (this.isClosed || this.socket !== socket) return
    if (code === 1000) {
      this.onState('ended')
      this.close()
      return
    }
    const state = (await isSignedOut()) ? 'signed-out' : 'connecting'
    if (this.isClosed || this.socket !== socket) return // connected again meanwhile
    this.onState(state)
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this.failures++, LONGEST_WAIT_MS)
    this.connectSoon(wait * (0.75 + Math.random() / 2))
  }

  private connectSoon(wait: number): void {
    if (this.isClosed || (this.socket && this.socket.readyState <= WebSocket.OPEN)) return
    window.clearTimeout(this.timer)
    this.timer = window.setTimeout(() => this.connect(), wait)
  }
}

/** A refused WebSocket does not say why. */
async function isSignedOut(): Promise<boolean> {
  try {
    await get('/api/projects')
  } catch (error) {
    return error instanceof ApiError && error.isSignedOut
  }
  return false
}
