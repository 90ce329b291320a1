/**
 * The part of the runner that is Python. It is run once, in a namespace of its own, before the interpreter's memory
 * is copied (see interpreter.ts).
 *
 * `run` executes calls until one may have touched what calls share (modules, types of the library, the file system, the
 * collector …): the memory is then put back before the next one. `risky` decides, from the compiled code and on the
 * safe side: nearly anything beyond arithmetic, own functions and a few pure modules counts as risky, and costs one
 * copy of the heap (about 3 ms), no more.
 */
export const RUNNER = String.raw`
import builtins as _builtins
__builtins__ = dict(vars(_builtins))

import _imp, cmath, collections, contextvars, decimal, fractions, functools, gc, io, itertools, json, math, os, random
import signal, statistics, sys, time, traceback, types
from _json import encode_basestring_ascii as quote
from opcode import opmap

BUILTINS = {k: v for k, v in vars(_builtins).items() if k not in ('__doc__', '__loader__', '__spec__')}
NO_OUTPUT = 'no output: use print()'
PURE = {'math', 'cmath', 'random', 'itertools', 'functools', 'collections', 'fractions', 'decimal', 'statistics'}
RISKY = (sys.stdlib_module_names - PURE) | set(
    'eval exec compile open getattr setattr delattr vars globals locals type breakpoint help license credits copyright '
    'exit quit update_wrapper wraps total_ordering DefaultContext BasicContext ExtendedContext '
    'gi_frame gi_code cr_frame cr_code ag_frame ag_code tb_frame f_back f_globals f_locals f_builtins'.split())
IMPORT, EXTENDED = opmap['IMPORT_NAME'], opmap['EXTENDED_ARG']
STORES = {opmap[n] for n in opmap if n.startswith(('STORE_ATTR', 'DELETE_ATTR', 'STORE_SUBSCR', 'DELETE_SUBSCR', 'STORE_SLICE'))}
SUSPENDS = 0x20 | 0x80 | 0x100 | 0x200  # generators and coroutines: their finally may run in a later call
clock, write, context = time.perf_counter, os.write, contextvars.Context
port = os.open('/dev/atelier', os.O_WRONLY)
armed = preparing = False


class Stopped(BaseException):
    """The time limit. Not a KeyboardInterrupt: that a program may well expect and catch."""


def stop(number, frame):
    if armed:
        raise Stopped


class Capture(io.TextIOBase):
    """Keeps the first characters that are printed, from the first that is not white space; drops the rest unread."""

    def __init__(self, limit):
        self.limit = limit
        self.parts = []
        self.size = 0
        self.more = False

    encoding = property(lambda self: 'utf-8')
    errors = property(lambda self: 'replace')
    buffer = property(lambda self: Bytes(self))

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f'write() argument must be str, not {type(text).__name__}')
        rest = text if self.size else text.lstrip()
        kept = rest[: self.limit - self.size]
        if kept:
            self.parts.append(kept)
            self.size += len(kept)
        if not self.more and len(rest) > len(kept):
            # A look at what follows settles it nearly always, without a copy of a text that may be huge.
            near = rest[len(kept) : len(kept) + 64]
            self.more = not near.isspace() or not (rest[len(kept) :].isspace())
        return len(text)


class Bytes(io.RawIOBase):
    """What sys.stdout.buffer is."""

    def __init__(self, text):
        self.text = text

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        self.text.write(data.decode('utf-8', 'replace'))
        return len(data)


class Sink(io.TextIOBase):
    """Standard error: nobody reads it."""

    def writable(self):
        return True

    def write(self, text):
        return len(text)


SINK, EMPTY = Sink(), io.StringIO()


def direct(out):
    sys.stdout = sys.__stdout__ = out
    sys.stderr = sys.__stderr__ = SINK
    sys.stdin = sys.__stdin__ = EMPTY


def parts(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from parts(constant)


def imported(code):
    extended = 0
    for op, arg in zip(code.co_code[::2], code.co_code[1::2]):
        arg |= extended
        extended = arg << 8 if op == EXTENDED else 0
        if op == IMPORT:
            yield code.co_names[arg]


def risky(code):
    codes = list(parts(code))
    imports = False
    for c in codes:
        if c.co_flags & SUSPENDS and c.co_name != '<genexpr>':
            return True
        for constant in c.co_consts:
            if isinstance(constant, str) and '__' in constant:
                return True
        for name in c.co_names:
            if name in RISKY or name.startswith('__'):
                return True
        if IMPORT in c.co_code[::2]:
            imports = True
            if not PURE.issuperset(imported(c)):
                return True
    # A module at hand, and something assigned into or by a private name: it could be the module's own.
    return imports and any(
        not STORES.isdisjoint(c.co_code[::2]) or any(n[0] == '_' and n != '_' for n in c.co_names) for c in codes)


def describe(error):
    """(type, message) as Python prints them in the last line of a traceback."""
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ('__main__', 'builtins'):
        name = f'{kind.__module__}.{name}'
    if isinstance(error, (SyntaxError, NameError, AttributeError, ImportError)):
        # These carry suggestions, which only the module that prints tracebacks works out.
        for line in traceback.TracebackException(kind, error, error.__traceback__, limit=0).format_exception_only():
            if line.startswith(name + ': '):
                return name, line[len(name) + 2 :].strip()
    if isinstance(error, SystemExit) and error.code is None:
        return name, ''
    return name, f'{error}'.strip()


def call(source, key, seconds, characters, megabytes):
    """Runs one call and writes its result to the port. Returns whether nothing that calls share was touched."""
    global armed
    out, error, kind, clean = Capture(characters), None, 'exception', True
    name, message = 'SystemError', 'the call broke its interpreter'
    module = types.ModuleType('__main__')
    namespace = module.__dict__
    namespace['__builtins__'] = dict(BUILTINS)
    direct(out)
    start = clock()
    try:
        try:
            armed = True
            code = compile(source, '<call>', 'exec', 0, True)
            clean = not risky(code)
            if not clean or IMPORT in code.co_code[::2]:
                sys.modules['__main__'] = module
                random.seed(0)  # each call alike, whatever ran before
            context().run(exec, code, namespace)
        finally:
            armed = False
    except BaseException as e:
        error = e
    if error is not None:
        direct(SINK)
        try:
            try:
                armed = True
                name, message = describe(error)
            finally:
                armed = False
        except BaseException as e:
            clean = False
            if isinstance(e, Stopped):
                error = e
    took = clock() - start
    direct(SINK)
    if isinstance(error, Stopped) or took > seconds:
        kind, name, message = 'timeout', 'TimeoutError', f'stopped after {seconds:g} s'
    elif isinstance(error, MemoryError):
        kind, message = 'memory', message or f'more than {megabytes:g} MB'
    elif isinstance(error, OverflowError) and message == "cannot fit 'int' into an index-sized integer":
        kind = 'memory'  # what a 32-bit Python says of a size that no memory holds
    if kind != 'exception' or not isinstance(error, (Exception, type(None))) or isinstance(error, RecursionError):
        clean = False
    if kind == 'exception' and error is None:
        text = ''.join(out.parts)
        if not out.more:
            text = text.rstrip()
        text, more = text or NO_OUTPUT, out.more
        emit(key, f'[true,{quote(text[:characters])},{"true" if more or len(text) > characters else "false"},{took:.6f}]')
    else:
        text = f'{name}: {message}' if message else name
        emit(key, f'[false,{quote(text[:characters])},{"true" if len(text) > characters else "false"},{took:.6f},'
                  f'"{kind}",{quote(name)},{quote(message)}]')
    error = None
    if clean:
        namespace.clear()
    return clean


def emit(key, line):
    write(port, (key + line).encode())


def run(sources, key, seconds, characters, megabytes, prepared):
    """0: all have run. 1: put the memory back, then go on. 2: the next one wants SymPy, then go on.

    What is written to the port begins with the batch's key: a call that writes to it by itself is not heard.
    """
    for source in json.loads(sources):
        if not prepared and ('sympy' in source or 'mpmath' in source):
            return 2
        emit(key, '>')
        if not call(source, key, seconds, characters, megabytes):
            return 1
    return 0


def prepare():
    """SymPy takes seconds to import: outside of any call's time, and only where a call names it."""
    global preparing
    preparing = True
    try:
        import sympy
        return True
    except Exception:
        return False
    finally:
        preparing = False
        for name in ('ctypes', 'ctypes._endian', '_ctypes'):
            sys.modules.pop(name, None)


def seal():
    """Cuts what leads from Python into JavaScript, and what walks the interpreter's own objects."""
    blocking_sleep = sys.modules['pyodide.webloop']._orig_sleep

    def sleep(seconds, /):
        # In slices: between two of them the time limit can act.
        end = clock() + seconds
        blocking_sleep(min(seconds, 0.02))
        while (rest := end - clock()) > 0:
            blocking_sleep(min(rest, 0.02))

    time.sleep = sleep
    # Pyodide's event loop is JavaScript's: asyncio goes with it, to be imported anew without.
    bridge = ('js', 'pyodide', 'pyodide_js', '_pyodide', '_pyodide_core', 'asyncio')
    for name in list(sys.modules):
        if name.split('.')[0] in bridge:
            module = sys.modules.pop(name)
            if isinstance(module, types.ModuleType) and name != '_pyodide_core':
                vars(module).clear()
    sys.meta_path[:] = [f for f in sys.meta_path if 'yodide' not in (getattr(f, '__module__', None) or type(f).__module__)]
    sys.path[:] = [p for p in sys.path if p]
    sys.path_importer_cache.clear()
    sys.argv[:] = ['']
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGINT, stop)

    banned = ('js', 'pyodide', 'pyodide_js', '_pyodide', '_pyodide_core', 'ctypes', '_ctypes')

    def refuse(name):
        # SymPy asks ctypes how long a long is, and no more: what reaches memory is refused below.
        if name.split('.')[0] in banned and not preparing:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)

    class Gate:
        def find_spec(name, path=None, target=None):
            refuse(name)

    create = _imp.create_builtin

    def create_builtin(spec):
        refuse(spec.name)
        return create(spec)

    sys.meta_path.insert(0, Gate)
    _imp.create_builtin = create_builtin

    def audit(event, arguments):
        if event.startswith(('ctypes.', 'gc.get_', 'code.__new__', 'socket.')) and not preparing:
            raise PermissionError(f'{event} is not allowed here')

    direct(SINK)
    gc.collect()
    sys.addaudithook(audit)
`;
