"""Names that fields of structures cannot have: those that C, C++ or a header give a meaning."""

import re

_TAKEN = re.compile(
    "alignas|alignof|and|and_eq|asm|auto|bitand|bitor|bool|break|case|catch|char|char8_t|char16_t|"
    "char32_t|class|co_await|co_return|co_yield|compl|concept|const|const_cast|consteval|constexpr|"
    "constinit|continue|decltype|default|delete|do|double|dynamic_cast|else|enum|explicit|export|"
    "extern|false|float|for|friend|goto|if|inline|int|long|mutable|namespace|new|noexcept|not|"
    "not_eq|nullptr|operator|or|or_eq|private|protected|public|register|reinterpret_cast|requires|"
    "restrict|return|short|signed|sizeof|static|static_assert|static_cast|struct|switch|template|"
    "this|thread_local|throw|true|try|typedef|typeid|typename|typeof|union|unsigned|using|virtual|"
    "void|volatile|wchar_t|while|xor|xor_eq|NULL|I|linux|unix|_.*|"
    "(U?INT|PTRDIFF|SIZE|SIG_ATOMIC|WCHAR|WINT|M_|PTHREAD|SCHED)[A-Z0-9_]*"
)


def field_name(name: str) -> str:
    """Return a name that a field of C may have: the same, but for those that are taken."""
    return f"size_{name}" if _TAKEN.fullmatch(name) else name
