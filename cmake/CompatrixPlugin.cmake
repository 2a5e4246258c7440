# compatrix_add_plugin(<name> SOURCES <file>...)
# A check plugin: one module that exports compatrix_plugin_entry and nothing else.
set(COMPATRIX_PLUGIN_EXPORTS "${CMAKE_CURRENT_LIST_DIR}/plugin_exports.map")

function(compatrix_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE compatrix::sdk)
  target_link_options(${name} PRIVATE "LINKER:--version-script=${COMPATRIX_PLUGIN_EXPORTS}" "LINKER:-z,defs"
                                      "LINKER:-z,now")
  set_target_properties(
    ${name}
    PROPERTIES PREFIX ""
               C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               LINK_DEPENDS "${COMPATRIX_PLUGIN_EXPORTS}"
               LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/plugins")
endfunction()
