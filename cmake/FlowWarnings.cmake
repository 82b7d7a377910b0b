# Warnings are errors in what we build ourselves; a user's build inherits none of this.
function(flow_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # False alarms of g++ 12 in the standard library's own headers at -O2.
        target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-pointer)
    endif()
    if(FLOW_SANITIZE)
        target_compile_options(${target} PUBLIC -fsanitize=${FLOW_SANITIZE} -fno-omit-frame-pointer -g1)
        target_link_options(${target} PUBLIC -fsanitize=${FLOW_SANITIZE})
    endif()
endfunction()
