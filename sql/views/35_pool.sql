-- POOL_TYPE in words: bit 0 paged, 0x20 session, 0x200 non-executable.
CREATE MACRO pool_kind(type) AS
    CASE WHEN type & 1 = 1 THEN 'paged' WHEN type & 512 = 512 THEN 'nonpaged nx' ELSE 'nonpaged' END
    || CASE WHEN type & 32 = 32 THEN ' session' ELSE '' END;

-- Whose allocation it is: the first module that is not the kernel's pool code. `modules` holds one
-- module a line, innermost first.
CREATE MACRO pool_owner(modules) AS
    coalesce(list_filter(string_split(rtrim(modules, chr(10)), chr(10)),
                         lambda name: lower(name) NOT IN ('ntoskrnl.exe', 'ntkrnlmp.exe',
                             'hal.dll', 'verifier.sys'))[1],
             nullif(string_split(modules, chr(10))[1], ''));
